// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "interpose/session/environment.h"
#include "proto/control_word.h"

namespace vramtrack {
namespace {

// Several threads may see at the same time that recording is to begin. One of them begins it, and it may have ended
// doing so before another one, which has read the control word already, comes that far.
TEST(SessionTest, OfTwoThreadsThatNoticeAStartOneBeginsToRecord) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "session_test";
  std::filesystem::create_directories(folder);
  const std::string options = "VRAMTRACK_DORMANT=1\nVRAMTRACK_OUTPUT=" + (folder / "%p.vtrace").string();
  ASSERT_TRUE(Environment::Override(options.c_str()));

  Session* const session = Session::Get();
  ASSERT_NE(session, nullptr);
  EXPECT_FALSE(session->records());
  std::atomic<uint64_t>* const control = session->file().counter(schema::COUNTER_CONTROL);
  EXPECT_EQ(Session::Recording(session), nullptr);

  const uint64_t before = control->fetch_and(~uint64_t{schema::CONTROL_STOP}) & ~uint64_t{schema::CONTROL_STOP};
  EXPECT_EQ(Session::Recording(session), session);
  EXPECT_TRUE(session->records());
  EXPECT_EQ(Session::Controlled(session, before), session);
  EXPECT_EQ(Session::Running(), session);

  // Stopped again, before the other thread came that far.
  EXPECT_TRUE(Session::StopRecording());
  EXPECT_EQ(Session::Controlled(session, before), nullptr);
  EXPECT_EQ(Session::Running(), session);

  // What is recorded after a stop is in another file.
  Session* const second = Session::Join();
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, session);
  EXPECT_TRUE(second->records());
  Session::FinishRunning();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
}

}  // namespace
}  // namespace vramtrack

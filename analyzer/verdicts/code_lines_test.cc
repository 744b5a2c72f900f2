// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/code_lines.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

TEST(NameOfCopies, NumbersAndHashesAreLeftOut) {
  EXPECT_EQ(NameOfCopies("<cell 17>"), NameOfCopies("<cell 3>"));
  EXPECT_EQ(NameOfCopies("<eval_with_key>.17"), NameOfCopies("<eval_with_key>.1204"));
  EXPECT_EQ(NameOfCopies("/tmp/torchinductor_root/c3a91f/kernel.py"),
            NameOfCopies("/tmp/torchinductor_root/0bd77e12/kernel.py"));
  EXPECT_EQ(NameOfCopies("/tmp/ipykernel_41/1839204711.py"), NameOfCopies("/tmp/ipykernel_41/77123.py"));
}

TEST(NameOfCopies, OtherNamesStay) {
  EXPECT_EQ(NameOfCopies("/job/train.py"), "/job/train.py");
  EXPECT_EQ(NameOfCopies("decade"), "decade");
  EXPECT_EQ(NameOfCopies(""), "");
  EXPECT_NE(NameOfCopies("/job/train.py"), NameOfCopies("/job/evaluate.py"));
}

}  // namespace
}  // namespace vramtrack

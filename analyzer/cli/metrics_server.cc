// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/metrics_server.h"

#include <utility>

#include "analyzer/cli/holder_request.h"
#include "analyzer/render/openmetrics/metrics_text.h"

namespace vramtrack {
namespace {

HttpResponse Text(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::make_shared<const std::string>(std::move(text))};
}

}  // namespace

MetricsServer::MetricsServer() : text_(std::make_shared<const std::string>(RenderJobMetrics(state_, nullptr))) {}

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const ListenAddress& address) {
  std::unique_ptr<MetricsServer> metrics(new MetricsServer());
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Start(address, [raw = metrics.get()](const HttpRequest& request) { return raw->Answer(request); });
  if (!server.ok()) return server.status();
  metrics->server_ = *std::move(server);
  return metrics;
}

void MetricsServer::Show(const LiveJob& job, const LiveJob::Look& look, double began_s) {
  ++state_.looks;
  if (look.report.ok()) {
    state_.look_time_s = began_s;
    state_.look_duration_s = look.seconds;
    const absl::StatusOr<std::vector<TracingProcess>> recording = FindTracingProcesses(job.target());
    state_.recording = recording.ok() ? recording->size() : 0;
    last_ = *look.report;
  } else {
    ++state_.failed_looks;
  }
  auto shared = std::make_shared<const std::string>(RenderJobMetrics(state_, last_ ? &*last_ : nullptr));
  const std::lock_guard<std::mutex> lock(mutex_);
  text_ = std::move(shared);
}

HttpResponse MetricsServer::Answer(const HttpRequest& request) {
  if (request.path == "/") return Text(200, "The metrics are at /metrics.\n");
  if (request.path != "/metrics") return Text(404, "The metrics are at /metrics.\n");
  const std::lock_guard<std::mutex> lock(mutex_);
  return {200, kOpenMetricsType, text_};
}

}  // namespace vramtrack

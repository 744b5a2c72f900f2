// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_METRICS_SERVER_H_
#define ANALYZER_CLI_METRICS_SERVER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "analyzer/cli/live_job.h"
#include "analyzer/render/openmetrics/job_metrics.h"
#include "analyzer/serve/http_server.h"

namespace vramtrack {

// Serves the metrics of a job at /metrics: those of the last look, so that a scrape costs nothing. Thread-compatible.
class MetricsServer {
 public:
  // The error is one line that names the address.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const ListenAddress& address);

  uint16_t port() const { return server_->port(); }

  // Takes the figures of a look that began at `began_s`, in seconds since 1970.
  void Show(const LiveJob& job, const LiveJob::Look& look, double began_s);

 private:
  MetricsServer();
  HttpResponse Answer(const HttpRequest& request);

  WatchState state_;
  std::optional<Report> last_;
  std::mutex mutex_;
  std::shared_ptr<const std::string> text_;  // guarded by mutex_
  std::unique_ptr<HttpServer> server_;       // destroyed first
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_METRICS_SERVER_H_

#include "core/plugin_host/metric_store.h"

#include <gtest/gtest.h>
#include <slipway/services.h>

#include "core/base/error.h"
#include "core/plugin_host/host.h"

namespace slipway {
namespace {

std::vector<double> finished(int32_t reduce, int32_t length, const std::vector<std::vector<double>>& deposits) {
  MetricStore store;
  store.declare({{"m", "world", length, reduce}});
  for (const auto& values : deposits) store.deposit("m", values.data(), static_cast<int32_t>(values.size()));
  return finish_metric(store.take().front());
}

TEST(MetricStore, CombinesDepositsAsDeclared) {
  EXPECT_EQ(finished(SLW_METRIC_SUM, 2, {{1, 2}, {3, 4}}), (std::vector<double>{4, 6}));
  EXPECT_EQ(finished(SLW_METRIC_MEAN, 1, {{1}, {3}}), (std::vector<double>{2}));
  EXPECT_EQ(finished(SLW_METRIC_MAX, 1, {{-5}, {-3}}), (std::vector<double>{-3}));
  EXPECT_EQ(finished(SLW_METRIC_LAST, 1, {{5}, {3}}), (std::vector<double>{3}));
  EXPECT_EQ(finished(SLW_METRIC_RATIO, 2, {{1, 2}, {2, 4}}), (std::vector<double>{0.5}));
}

TEST(MetricStore, TakingStartsAfresh) {
  MetricStore store;
  store.declare({{"m", "world", 1, SLW_METRIC_SUM}});
  const double one = 1;
  store.deposit("m", &one, 1);
  EXPECT_EQ(store.take().front().deposits, 1);
  EXPECT_EQ(store.take().front().deposits, 0);
}

TEST(MetricsService, RefusesWhatWasNotDeclared) {
  Host host({});
  host.metrics().declare({{"m", "world", 1, SLW_METRIC_SUM}});
  const auto* service = static_cast<const slw_metrics*>(host.get()->get_service(host.get(), SLW_SERVICE_METRICS));
  const double values[] = {1, 2};
  EXPECT_EQ(service->deposit(host.get(), "m", values, 1, nullptr), SLW_OK);
  EXPECT_EQ(service->deposit(host.get(), "m", values, 2, nullptr), SLW_INVALID_ARGUMENT);
  EXPECT_EQ(service->deposit(host.get(), "other", values, 1, nullptr), SLW_INVALID_ARGUMENT);
  EXPECT_EQ(host.get()->get_service(host.get(), "no such service"), nullptr);
  EXPECT_EQ(host.get()->get_service(host.get(), SLW_SERVICE_COMM), nullptr);
}

}  // namespace
}  // namespace slipway

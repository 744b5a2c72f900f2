// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/testing/families.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace vramtrack {
namespace {

constexpr int kForever = SyntheticObject::kForever;
constexpr double kKiB = 1024, kMiB = 1024 * 1024;

double Uniform(Random& random, double low = 0, double high = 1) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

int Integer(Random& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

// A batch's longest sequence, in tokens.
double SequenceLength(Random& random) { return std::exp(std::normal_distribution<double>(6, .6)(random)); }

void AddChurn(SyntheticSite& site, Random& random, int steps, double bytes, double variation, int objects,
              int max_lifetime) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < objects; ++i) {
      const int death = t + (max_lifetime > 0 ? Integer(random, 0, max_lifetime) : 0);
      site.push_back({t, death, bytes * (1 + variation * Uniform(random, -1, 1))});
    }
  }
}

int EndOfPhase(int step, int phase) { return (step / phase + 1) * phase; }

std::vector<Family> MakeLeaks() {
  std::vector<Family> families;
  const auto add = [&](const char* name, std::function<SyntheticSite(Random&, int)> make) {
    families.push_back({name, true, std::move(make)});
  };
  add("L01 512 B in every step, beside churn", [](Random& random, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) site.push_back({t, kForever, 512});
    AddChurn(site, random, steps, 2048, .3, 4, 0);
    return site;
  });
  add("L02 4 MiB in every step", [](Random&, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) site.push_back({t, kForever, 4 * kMiB});
    return site;
  });
  add("L03 64 KiB in one step of ten, at random", [](Random& random, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) {
      if (Uniform(random) < .1) site.push_back({t, kForever, 64 * kKiB});
    }
    AddChurn(site, random, steps, 64 * kKiB, 0, 5, 0);
    return site;
  });
  add("L04 0.5 to 2 MiB in every step", [](Random& random, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) site.push_back({t, kForever, Uniform(random, .5, 2) * kMiB});
    return site;
  });
  add("L05 from half of the run on", [](Random& random, int steps) {
    SyntheticSite site;
    AddChurn(site, random, steps, kMiB, .5, 3, 1);
    for (int t = steps / 2; t < steps; ++t) site.push_back({t, kForever, kMiB});
    return site;
  });
  add("L06 in each of twenty evaluations", [](Random&, int steps) {
    SyntheticSite site;
    const int every = std::max(2, steps / 20);
    for (int t = every; t < steps; t += every) site.push_back({t, kForever, 8 * kMiB});
    return site;
  });
  add("L07 under a collector's sawtooth", [](Random&, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) {
      site.push_back({t, EndOfPhase(t, 17), 8 * kMiB});
      site.push_back({t, kForever, .5 * kMiB});
    }
    return site;
  });
  add("L08 1 MiB in every step under 1 GiB of churn", [](Random& random, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) {
      for (int i = 0; i < 8; ++i) {
        const int death = t + Integer(random, 0, 2);
        site.push_back({t, death, Uniform(random, 16, 256) * kMiB});
      }
      site.push_back({t, kForever, kMiB});
    }
    return site;
  });
  add("L09 one object of a hundred", [](Random& random, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) {
      for (int i = 0; i < 20; ++i) site.push_back({t, Uniform(random) < .01 ? kForever : t, 256 * kKiB});
    }
    return site;
  });
  add("L10 a fifth of what an epoch's end should free", [](Random& random, int steps) {
    SyntheticSite site;
    const int epoch = std::max(5, steps / 10);
    for (int t = 0; t < steps; ++t) {
      site.push_back({t, Uniform(random) < .2 ? kForever : EndOfPhase(t, epoch), kMiB});
    }
    return site;
  });
  return families;
}

std::vector<Family> MakeLookalikes() {
  std::vector<Family> families;
  const auto add = [&](const char* name, std::function<SyntheticSite(Random&, int)> make) {
    families.push_back({name, false, std::move(make)});
  };
  add("N01 weights", [](Random&, int) { return SyntheticSite(50, {0, kForever, 4 * kMiB}); });
  add("N02 optimizer state of the first step", [](Random&, int) { return SyntheticSite(50, {1, kForever, 8 * kMiB}); });
  add("N03 plan cache, Zipf distributed keys", [](Random& random, int steps) {
    constexpr int kKeys = 256;
    std::vector<double> cumulative;
    double total = 0;
    for (int key = 0; key < kKeys; ++key) cumulative.push_back(total += 1. / (key + 1));
    std::vector<bool> cached(kKeys, false);
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) {
      const double draw = Uniform(random) * total;
      const auto key = std::lower_bound(cumulative.begin(), cumulative.end(), draw) - cumulative.begin();
      if (cached[key]) continue;
      cached[key] = true;
      site.push_back({t, kForever, 2 * kMiB});
    }
    return site;
  });
  add("N04 running maximum", [](Random& random, int steps) {
    SyntheticSite site;
    double longest = 0;
    for (int t = 0; t < steps; ++t) {
      const double length = SequenceLength(random);
      if (length <= longest) continue;
      longest = length;
      site.push_back({t, kForever, length * 100000});
    }
    return site;
  });
  add("N05 collector's sawtooth", [](Random& random, int steps) {
    SyntheticSite site;
    const int period = Integer(random, 13, 29);
    for (int t = 0; t < steps; ++t) site.push_back({t, EndOfPhase(t, period), 8 * kMiB});
    return site;
  });
  add("N06 activations of varying length", [](Random& random, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) {
      const int death = t + Integer(random, 0, 1);
      site.push_back({t, death, Uniform(random, 1, 64) * kMiB});
    }
    return site;
  });
  add("N07 freed at the end of each epoch", [](Random&, int steps) {
    SyntheticSite site;
    const int epoch = std::max(5, steps / 8);
    for (int t = 0; t < steps; ++t) site.push_back({t, EndOfPhase(t, epoch), kMiB});
    return site;
  });
  add("N08 frees deferred by a bounded queue", [](Random& random, int steps) {
    SyntheticSite site;
    double queue = 8;
    for (int t = 0; t < steps; ++t) {
      queue = std::min(32., std::max(1., queue + Uniform(random, -2, 2)));
      site.push_back({t, t + static_cast<int>(queue), 16 * kMiB});
    }
    return site;
  });
  add("N09 curriculum ramp", [](Random&, int steps) {
    SyntheticSite site;
    for (int t = 0; t < steps; ++t) {
      const double share = std::min(1., t / (.7 * steps));
      site.push_back({t, t == steps - 1 ? kForever : t, (1 + 63 * share) * kMiB});
    }
    return site;
  });
  add("N10 replay buffer, full after 60 % of the run", [](Random&, int steps) {
    SyntheticSite site;
    for (int t = 0; t < .6 * steps; ++t) site.push_back({t, kForever, kMiB});
    return site;
  });
  add("N11 a few handles", [](Random& random, int steps) {
    SyntheticSite site;
    const int handles = Integer(random, 1, 4);
    for (int i = 0; i < handles; ++i) site.push_back({Integer(random, 0, steps - 1), kForever, 8 * kMiB});
    return site;
  });
  add("N12 cache of 32, oldest out first", [](Random& random, int steps) {
    SyntheticSite site;
    std::deque<size_t> cached;
    for (int t = 0; t < steps; ++t) {
      if (Uniform(random) >= .7) continue;
      site.push_back({t, kForever, kMiB});
      cached.push_back(site.size() - 1);
      if (cached.size() <= 32) continue;
      site[cached.front()].death_step = t;
      cached.pop_front();
    }
    return site;
  });
  add("N13 buffer reallocated for the longest batch", [](Random& random, int steps) {
    SyntheticSite site;
    double longest = 0;
    for (int t = 0; t < steps; ++t) {
      const double length = SequenceLength(random);
      if (length <= longest) continue;
      longest = length;
      if (!site.empty()) site.back().death_step = t;
      site.push_back({t, kForever, length * 100000});
    }
    return site;
  });
  add("N14 warm-up, then flat", [](Random& random, int steps) {
    SyntheticSite site;
    const int warmup = std::max(3, steps / 12);
    for (int t = 0; t < warmup; ++t) site.push_back({t, kForever, 32 * kMiB});
    AddChurn(site, random, steps, kMiB, .5, 2, 1);
    return site;
  });
  return families;
}

}  // namespace

const std::vector<Family>& Families() {
  static const std::vector<Family>* const kFamilies = [] {
    auto* families = new std::vector<Family>(MakeLeaks());
    for (Family& family : MakeLookalikes()) families->push_back(std::move(family));
    return families;
  }();
  return *kFamilies;
}

SiteHistory HistoryOf(const SyntheticSite& site, int steps) {
  struct Event {
    int step;
    bool death;
    const SyntheticObject* object;
  };
  std::vector<Event> events;
  for (const SyntheticObject& object : site) {
    if (object.birth_step >= steps) continue;
    events.push_back({object.birth_step, false, &object});
    if (object.death_step < steps) events.push_back({object.death_step, true, &object});
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.step != b.step ? a.step < b.step : a.death < b.death;
  });
  SiteHistoryBuilder builder;
  for (const Event& event : events) {
    const auto bytes = static_cast<uint64_t>(event.object->bytes);
    if (event.death) {
      builder.OnDeath(static_cast<Step>(event.object->birth_step), static_cast<Step>(event.step), bytes);
    } else {
      builder.OnBirth(static_cast<Step>(event.step), bytes);
    }
  }
  return builder.Finish(static_cast<Step>(steps));
}

}  // namespace vramtrack

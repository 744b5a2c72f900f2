// SPDX-License-Identifier: Apache-2.0
//
// Threads whose keys' destructors allocate, in every round of destructors that there is; keys made before the first
// CUDA call and after it, and more of them than the C library keeps in the thread itself.
#include <pthread.h>

#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

namespace {

struct Value {
  pthread_key_t key;
  int rounds;
};

void Destroy(void* pointer) {
  auto* value = static_cast<Value*>(pointer);
  Pairs(1);
  if (--value->rounds > 0) {
    pthread_setspecific(value->key, value);
  } else {
    delete value;
  }
}

pthread_key_t NewKey() {
  pthread_key_t key;
  if (pthread_key_create(&key, Destroy) != 0) std::abort();
  return key;
}

}  // namespace

int main() {
  std::vector<pthread_key_t> keys;
  for (int i = 0; i < 40; ++i) keys.push_back(NewKey());
  Pairs(1);
  for (int i = 0; i < 40; ++i) keys.push_back(NewKey());
  for (int t = 0; t < 100; ++t) {
    std::thread([&] {
      for (const size_t index : {size_t{0}, size_t{39}, size_t{40}, size_t{79}}) {
        pthread_setspecific(keys[index], new Value{keys[index], 4});
      }
      if (t % 2 == 0) Pairs(1);
    }).join();
  }
  std::puts("done");
  return 0;
}

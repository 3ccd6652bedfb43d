// SPDX-License-Identifier: Apache-2.0
// A job that collects gensteps, and finds no server for them.
#include <raylift/client/gensteps.h>

#include <unistd.h>
#include <cstdio>

int main() {
  using namespace raylift::client;
  Collector collector;
  Step step;
  step.displacement[2] = 1;
  step.charge = -1;
  step.beta = 0.99;
  collector.add(step);
  Options options;
  options.addresses = {"ipc:///nowhere-" + std::to_string(::getpid()) + "/s"};
  options.patience = std::chrono::milliseconds(100);
  const std::size_t count = collector.gensteps().size();
  try {
    Client client(options);
    (void)client.wait(client.submit(collector.gensteps_request(1)));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unreachable) std::printf("%zu gensteps, and no server\n", count);
  }
}

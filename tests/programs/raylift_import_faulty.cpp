// SPDX-License-Identifier: Apache-2.0
// raylift-import-faulty: raylift-import with the faults that import_faults.h lists, for tests.
#include <raylift/geometry/import/load.h>

#include "import/load_optics.h"
#include "import/serve_import.h"
#include "import_faults.h"

int main() {
  using namespace raylift;
  return import::serve([](const SceneInputs& inputs, const LoadOptions& options, const Progress& progress) {
    test::commit_import_fault();
    Scene scene = import_scene(inputs, options, progress);
    if (test::keeps_result()) {
      import::write_result(scene, {});
      test::keep_result();
    }
    return scene;
  });
}

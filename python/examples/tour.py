# SPDX-License-Identifier: Apache-2.0
"""Shows each mesh by itself in a window, and saves an image of it: tour.py FOLDER [SCENE]

Prints the paths of solids that are clicked meanwhile.
"""
import os
import sys

import raylift as rl


def main(folder: str, path: str | os.PathLike[str] = rl.data_folder / "detector.dae") -> None:
    scene = rl.load(path)
    os.makedirs(folder, exist_ok=True)
    with rl.view(scene) as viewer:
        viewer.ready()
        viewer.subscribe(to="selection")
        viewer.color("solid")
        for number, mesh in enumerate(scene.meshes):
            viewer.focus(f"mesh:{mesh.name}")
            viewer.screenshot(os.path.join(folder, f"{number:03}.png"))
            for _, change in viewer.notifications(timeout=0.1):
                print(change["selection"] and change["selection"]["path"])


if __name__ == "__main__":
    main(*sys.argv[1:])

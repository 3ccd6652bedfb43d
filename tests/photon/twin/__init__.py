# SPDX-License-Identifier: Apache-2.0
"""A second, slow simulator of photons, to check `raylift photons` by: NumPy, double precision, analytic spheres and boxes.

It shares no code with raylift, and its models are written from their publications: Geant4's Physics Reference Manual and
G4OpBoundaryProcess, G4OpRayleigh, G4OpMieHG and G4OpWLS; Henyey and Greenstein 1941; Born and Wolf, "Principles of Optics";
Chroma's simple surface. Where a distribution has a closed form, it is drawn by that and not by rejection.
"""

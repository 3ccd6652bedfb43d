// SPDX-License-Identifier: Apache-2.0
// Icons of Font Awesome 4.7, as UTF-8: letters of the private area, which gui.cpp merges into the text's font.
#pragma once

namespace raylift::viewer::icon {

inline constexpr unsigned short kFirst = 0xF000, kLast = 0xF2E0;

inline constexpr const char* kOpen = "\xEF\x81\xBC";        // folder-open, f07c
inline constexpr const char* kView = "\xEF\x86\xB2";        // cube, f1b2
inline constexpr const char* kClip = "\xEF\x83\x84";        // scissors, f0c4
inline constexpr const char* kMeasure = "\xEF\x81\xBE";     // arrows-h, f07e
inline constexpr const char* kLight = "\xEF\x83\xAB";       // lightbulb-o, f0eb
inline constexpr const char* kRayCast = "\xEF\x81\x9B";     // crosshairs, f05b
inline constexpr const char* kPicture = "\xEF\x80\xB0";     // camera, f030
inline constexpr const char* kSolids = "\xEF\x83\xA8";      // sitemap, f0e8
inline constexpr const char* kImage = "\xEF\x87\x9E";       // sliders, f1de
inline constexpr const char* kLegend = "\xEF\x83\x8A";      // list-ul, f0ca
inline constexpr const char* kCommands = "\xEF\x84\xA0";    // terminal, f120
inline constexpr const char* kHelp = "\xEF\x81\x99";        // question-circle, f059
inline constexpr const char* kShown = "\xEF\x81\xAE";       // eye, f06e
inline constexpr const char* kHidden = "\xEF\x81\xB0";      // eye-slash, f070
inline constexpr const char* kMore = "\xEF\x85\x81";        // ellipsis-h, f141
inline constexpr const char* kSurfaces = "\xEF\x89\x8D";    // clone, f24d
inline constexpr const char* kProperties = "\xEF\x81\x9A";  // info-circle, f05a
inline constexpr const char* kDevice = "\xEF\x8B\x9B";      // microchip, f2db
inline constexpr const char* kBookmarks = "\xEF\x80\xAE";   // bookmark, f02e
inline constexpr const char* kRename = "\xEF\x81\x80";      // pencil, f040
inline constexpr const char* kClear = "\xEF\x80\x8D";      // times, f00d
inline constexpr const char* kRemove = "\xEF\x80\x94";      // trash-o, f014

}  // namespace raylift::viewer::icon

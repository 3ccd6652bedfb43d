// SPDX-License-Identifier: Apache-2.0
// The transformation elements of COLLADA.
#include <cmath>
#include <numbers>

#include "collada_detail.h"
#include "collada_text.h"

namespace raylift::collada {
namespace {

using Vector = Eigen::Vector3d;

std::vector<double> numbers(const Source& source, pugi::xml_node element, std::size_t wanted) {
  std::string joined;
  const auto values = read_reals(text_of(element, joined));
  if (!values || values->size() != wanted)
    fail(ErrorKind::malformed, "expected " + std::to_string(wanted) + " numbers", source, element);
  for (const double value : *values)
    if (!std::isfinite(value)) fail(ErrorKind::malformed, "a number is not finite", source, element);
  return *values;
}

Vector axis_of(const Source& source, pugi::xml_node element, double x, double y, double z) {
  const Vector axis(x, y, z);
  if (!(axis.norm() > 0)) fail(ErrorKind::malformed, "an axis or direction has no length", source, element);
  return axis.normalized();
}

/// COLLADA 1.4.1, <skew>: the angle in degrees, the axis of rotation, the axis of translation. A point moves along the
/// second axis by tan(angle) times its coordinate along the part of the first that is normal to the second
/// (as in the RenderMan interface specification, from which COLLADA takes it).
EigenTransform skew(const Source& source, pugi::xml_node element) {
  const std::vector<double> v = numbers(source, element, 7);
  const Vector rotation = axis_of(source, element, v[1], v[2], v[3]);
  const Vector translation = axis_of(source, element, v[4], v[5], v[6]);
  const Vector normal = rotation - rotation.dot(translation) * translation;
  const double tangent = std::tan(v[0] * std::numbers::pi / 180);
  if (!(normal.norm() > 1e-9) || !(std::abs(tangent) < 1e9))
    fail(ErrorKind::unsupported, "the skew is degenerate: parallel axes or a right angle", source, element);
  EigenTransform result = EigenTransform::Identity();
  result.linear() += tangent * translation * normal.normalized().transpose();
  return result;
}

EigenTransform look_at(const Source& source, pugi::xml_node element) {
  const std::vector<double> v = numbers(source, element, 9);
  const Vector eye(v[0], v[1], v[2]);
  const Vector backward = -axis_of(source, element, v[3] - v[0], v[4] - v[1], v[5] - v[2]);
  const Vector sideways = axis_of(source, element, v[6], v[7], v[8]).cross(backward);
  const Vector right = axis_of(source, element, sideways.x(), sideways.y(), sideways.z());
  EigenTransform result = EigenTransform::Identity();
  result.linear() << right, backward.cross(right), backward;
  result.translation() = eye;
  return result;
}

}  // namespace

EigenTransform matrix(const Source& source, pugi::xml_node element) {
  const std::vector<double> v = numbers(source, element, 16);
  if (v[12] != 0 || v[13] != 0 || v[14] != 0 || v[15] != 1)
    fail(ErrorKind::unsupported, "the matrix is not affine: its last row is not 0 0 0 1", source, element);
  EigenTransform result;
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 4; ++column) result(row, column) = v[static_cast<std::size_t>(row * 4 + column)];
  return result;
}

EigenTransform local_transform(const Source& source, pugi::xml_node node) {
  EigenTransform result = EigenTransform::Identity();
  for (const pugi::xml_node element : node.children()) {
    if (is(element, "matrix")) {
      result = result * matrix(source, element);
    } else if (is(element, "translate")) {
      const std::vector<double> v = numbers(source, element, 3);
      result.translate(Vector(v[0], v[1], v[2]));
    } else if (is(element, "rotate")) {
      const std::vector<double> v = numbers(source, element, 4);
      // Exporters write "0 0 0 0" for no rotation.
      if (v[3] != 0)
        result.rotate(Eigen::AngleAxisd(v[3] * std::numbers::pi / 180, axis_of(source, element, v[0], v[1], v[2])));
    } else if (is(element, "scale")) {
      const std::vector<double> v = numbers(source, element, 3);
      result.scale(Vector(v[0], v[1], v[2]));
    } else if (is(element, "skew")) {
      result = result * skew(source, element);
    } else if (is(element, "lookat")) {
      result = result * look_at(source, element);
    }
  }
  return result;
}

}  // namespace raylift::collada

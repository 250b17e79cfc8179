#include "session/html.h"

#include <cmath>

#include "base/markup.h"
#include "base/quoted.h"
#include "model/heads.h"

namespace headlight {

namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.5 Inter, system-ui, sans-serif; color: #14171B; background: #fff; max-width: 1080px; margin: 32px auto; padding: 0 24px; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 17px; margin: 36px 0 8px; } p.note { color: #5F6873; font-size: 13px; margin: 4px 0 12px; }
table { border-collapse: collapse; font-size: 13px; } th { text-align: right; font-weight: 600; border-bottom: 1px solid #ABB3BD; padding: 4px 10px; }
td { text-align: right; padding: 3px 10px; border-bottom: 1px solid #ECEEF1; font-family: "JetBrains Mono", ui-monospace, monospace; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
th[data-sorts] { cursor: pointer; } th[aria-sort] { color: #8A4B00; } td.bars { text-align: left; line-height: 9px; }
.scroll { overflow-x: auto; } footer { margin-top: 48px; color: #5F6873; font-size: 13px; } @media print { body { margin: 0; } h2 { break-after: avoid; } })";

/// Sorts by a column when its header is clicked; a second click reverses the order.
constexpr const char* kScript = R"(
for (const head of document.querySelectorAll('th[data-sorts]')) head.addEventListener('click', () => {
  const table = head.closest('table'), body = table.tBodies[0], column = head.cellIndex, down = head.getAttribute('aria-sort') !== 'descending';
  for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const value = row => { const v = parseFloat(row.cells[column].dataset.value); return isNaN(v) ? -Infinity : v; };
  [...body.rows].sort((a, b) => down ? value(b) - value(a) : value(a) - value(b)).forEach(row => body.append(row));
});)";

}  // namespace

std::string page_head(const std::string& title) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
           "content=\"width=device-width\">\n<title>" +
           escaped(title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n<h1>" +
           escaped(title) + "</h1>\n";
}

std::string page_end() {
    return "<footer>Made by Headlight " HEADLIGHT_VERSION ".</footer>\n<script>" + std::string(kScript) +
           "</script>\n</body>\n</html>\n";
}

std::string model_line(const Model& model) {
    const ModelConfig& c = model.config;
    return "<p class=\"note\">" + escaped(model.name) + " · " + c.family_name + " · " +
           std::to_string(c.layers()) + " layers · " + per_stack(c, &AttentionSpec::heads) +
           " heads · d_model " + std::to_string(c.d_model) + "</p>\n";
}

std::string number_cell(float value, int digits) {
    return "<td data-value=\"" + (std::isnan(value) ? "" : std::to_string(double(value))) + "\">" +
           (std::isnan(value) ? "" : decimals(value, digits)) + "</td>";
}

}  // namespace headlight

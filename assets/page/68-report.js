// The report: what the page's own markup says, which reads without scripts too. Scripts sort its tables and
// open its heads.

const report = document.getElementById('report');

function makeReportView() {
  report.hidden = false;
  return report;
}

/** Sorts a table by a column; a second time, the other way. */
function sortBy(heading) {
  const table = heading.closest('table');
  const down = heading.getAttribute('aria-sort') !== 'descending';
  for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort');
  heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const value = (row) => {
    const number = parseFloat(row.cells[heading.cellIndex].dataset.value);
    return Number.isNaN(number) ? -Infinity : number;
  };
  const sign = down ? 1 : -1;
  const rows = [...table.tBodies[0].rows].sort((a, b) => sign * (value(b) - value(a)));
  table.tBodies[0].append(...rows);
}

/** Makes an element that a click, Enter or Space uses. */
function asButton(element, use) {
  element.tabIndex = 0;
  if (element.tagName !== 'TH') element.setAttribute('role', 'button');
  element.addEventListener('click', () => use(element));
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    use(element);
  });
}

function listenToReport() {
  if (!report) return;
  for (const heading of report.querySelectorAll('th[data-sorts]')) asButton(heading, sortBy);
  for (const figure of report.querySelectorAll('[data-head]')) {
    const [block, head] = figure.dataset.head.split(',').map(Number);
    asButton(figure, () => {
      pickHead(block, head);
      showView('head');
    });
  }
  for (const figure of report.querySelectorAll('[data-opens]'))
    asButton(figure, () => showView(figure.dataset.opens));
}

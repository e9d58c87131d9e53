/**
 * Keeps an open page of the dashboard up to date. The server writes every page whole, and escaped; this script fetches the page
 * again when an event comes, and puts the parts marked `data-live` in the place of the old ones. Without it, the page is as
 * readable as it was when it was loaded.
 */

const { after } = document.body.dataset;
const words = JSON.parse(document.body.dataset.words ?? '{}'); // In the language of the page.
const SOON_MS = 400;
const PAUSE_MS = 1500; // Between two fetches, however many events come.
const LONGEST_MS = 15_000; // Runs, the outbox and all times change without an event.

const live = document.getElementById('live');
const changeNotice = document.getElementById('news');

let timer = null;
let fetchedAt = performance.now();
let isFetching = false;

function showState(text, isAway) {
  if (live.textContent !== text) live.textContent = text;
  live.hidden = false;
  live.classList.toggle('away', isAway);
}

function refreshIn(ms) {
  clearTimeout(timer);
  timer = setTimeout(refresh, ms);
}

async function refresh() {
  if (document.hidden || isFetching) return;
  isFetching = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (answer.status === 401) return showState(words.signedOut, true);
    if (answer.ok) {
      show(new DOMParser().parseFromString(await answer.text(), 'text/html'));
      showState(words.live, false);
    }
  } catch {
    showState(words.away, true);
  } finally {
    isFetching = false;
    fetchedAt = performance.now();
    refreshIn(LONGEST_MS);
  }
}

function show(page) {
  const known = new Set([...document.querySelectorAll('.feed > li')].map(({ id }) => id));
  for (const old of document.querySelectorAll('[data-live]')) {
    const next = page.getElementById(old.id);
    if (next !== null && !isInUse(old) && !old.isEqualNode(next)) replace(old, document.adoptNode(next));
  }
  const added = [...document.querySelectorAll('.feed > li')].filter(({ id }) => id !== '' && !known.has(id));
  for (const item of added) item.classList.add('new');
  if (added.length > 0) changeNotice.textContent = words.changeCount.replace('{n}', added.length);
}

/** A part stays as it is while somebody types into it. */
function isInUse(part) {
  const { activeElement } = document;
  return part.contains(activeElement) && activeElement.matches('input, select');
}

/** What was open stays open, and what had the focus keeps it. */
function replace(old, next) {
  const open = [...old.querySelectorAll('details[open]')].map(({ id }) => id);
  for (const details of next.querySelectorAll('details')) if (open.includes(details.id)) details.open = true;
  const focused = old.contains(document.activeElement) ? placeOf(old, document.activeElement) : null;
  old.replaceWith(next);
  if (focused !== null) focusable(next)[focused]?.focus({ preventScroll: true });
}

const focusable = (part) => [...part.querySelectorAll('a, button, input, select, summary')];
const placeOf = (part, element) => focusable(part).indexOf(element);

/** Listens for events while the page is seen: an open stream takes one of the server's places. */
function listen() {
  let stream = null;
  const open = () => {
    stream = new EventSource(`/v1/changes?after=${after}`);
    stream.addEventListener('open', () => showState(words.live, false));
    stream.addEventListener('message', () => {
      const since = performance.now() - fetchedAt;
      refreshIn(Math.max(SOON_MS, PAUSE_MS - since));
    });
    stream.addEventListener('error', () => showState(words.away, true));
  };
  document.addEventListener('visibilitychange', () => {
    stream?.close();
    if (document.hidden) return;
    open();
    void refresh();
  });
  open();
  refreshIn(LONGEST_MS);
}

/** Sends a form once: a second click would replace the answer to the first, which may show a token. */
function sendOnce() {
  let sent = null;
  document.addEventListener('submit', (event) => {
    if (event.target.method !== 'post') return;
    if (event.target === sent) event.preventDefault();
    sent = event.target;
  });
  addEventListener('pageshow', () => (sent = null));
}

/** Removes the notice from the address: a shared address must not show it again. */
function forgetNotice() {
  const address = new URL(location.href);
  if (!address.searchParams.has('done')) return;
  address.searchParams.delete('done');
  history.replaceState(null, '', address);
}

/** Draws the plots; who does not see them has a table beneath each. */
function drawPlots() {
  for (const canvas of document.querySelectorAll('[data-plot]')) {
    const { at, values, unit, shape, timezone } = JSON.parse(canvas.dataset.plot);
    if (at.length > 0) drawPlot(canvas, { data: [at, values], unit, timezone, isStepped: shape === 'steps' });
  }
}

function drawPlot(canvas, { data, unit, timezone, isStepped }) {
  const styles = getComputedStyle(document.documentElement);
  const colour = (name) => styles.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const paths = isStepped ? { paths: window.uPlot.paths.bars({ size: [0.8, 30] }) } : {};
  const fill = isStepped ? { fill: colour('--accent') } : {};
  const line = { label: unit, stroke: colour('--accent'), width: isStepped ? 0 : 2, points: { show: false } };
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, timeStyle: 'short' });
  const { lang } = document.documentElement;
  const numbers = new Intl.NumberFormat(`${lang}-CA`);
  const dates = lang === 'en' ? 'en-GB' : 'fr-CA';
  const hours = new Intl.DateTimeFormat(dates, { timeZone: timezone, timeStyle: 'short' });
  const days = new Intl.DateTimeFormat(dates, { timeZone: timezone, day: 'numeric', month: 'short' });
  const moments = (_plot, splits) =>
    splits.map((seconds) => {
      const at = new Date(seconds * 1000);
      return (clock.format(at) === '00:00' ? days : hours).format(at);
    });
  const size = () => ({ width: canvas.clientWidth, height: 190 });
  const options = {
    ...size(),
    tzDate: (seconds) => window.uPlot.tzDate(new Date(seconds * 1000), timezone),
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: {
      y: { range: (_plot, low, high) => (isStepped ? [0, Math.max(1, high)] : [low - 1, high + 1]) },
    },
    axes: [
      { ...axis, values: moments },
      {
        ...axis,
        size: 60,
        values: (_plot, splits) => splits.map((split) => numbers.format(split)),
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 5e5, 1e6],
      },
    ],
    series: [{}, { ...line, ...paths, ...fill }],
  };
  canvas.textContent = '';
  const plot = new window.uPlot(options, data, canvas);
  new ResizeObserver(() => plot.setSize(size())).observe(canvas);
}

/** Copies the text of a field; without https, browsers have no other way than its selection. */
function copyOnClick({ target }) {
  const id = target.closest?.('[data-copy]')?.dataset.copy;
  if (id === undefined) return;
  document.getElementById(id).select();
  document.execCommand('copy');
}

document.addEventListener('click', copyOnClick);
sendOnce();
forgetNotice();
drawPlots();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawPlots);
if (after !== undefined) listen();

/** `/` and Ctrl-K lead to the search box of the page, Escape out of it. */
const searchBox = document.querySelector('main input[type=search]') ?? document.querySelector('.find input');
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, select, textarea') !== null;
  if ((event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    searchBox?.select();
  } else if (event.key === 'Escape' && event.target === searchBox) searchBox.blur();
});

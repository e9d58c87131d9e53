import type { Day, Way } from './days.ts';

interface Panel {
  readonly title: string;
  readonly seconds: (day: Day) => number;
}

const PANELS: readonly Panel[] = [
  { title: 'New records: 95 of 100 seen within', seconds: ({ created }) => created },
  { title: 'Deletions: 95 of 100 suspected within', seconds: ({ deleted }) => deleted },
  { title: 'Updates: seen after, on average', seconds: ({ updated }) => updated },
];

const WAYS: readonly { readonly way: Way; readonly style: string }[] = [
  { way: 'sweeps alone', style: 'alone' },
  { way: 'beside sweeps every 15 minutes', style: 'beside' },
  { way: 'with sweeps every two hours', style: 'seldom' },
];

const [WIDTH, HEIGHT] = [920, 330];
/** The area of a panel's lines, and the distance from one panel to the next. */
const AREA = { left: 52, top: 74, width: 234, height: 200 };
const PITCH = 304;
const X_TICKS = [30, 60, 120, 240];
const Y_TICKS: readonly (readonly [number, string])[] = [
  [5, '5 s'],
  [15, '15 s'],
  [60, '1 min'],
  [300, '5 min'],
  [900, '15 min'],
  [3600, '1 h'],
];
const [X_RANGE, Y_RANGE] = [
  [28, 290],
  [4, 6000],
] as const;

/** Colours that both a light and a dark page can carry; a viewer that knows the page's scheme gets text to match. */
const STYLE = `
    text { font: 12px system-ui, sans-serif; fill: #3d3d3a }
    .title { font-weight: 600 }
    .grid { stroke: #8a8a84; stroke-opacity: .28 }
    path { fill: none; stroke-width: 2 }
    .alone { stroke: #8a8a84 } .beside { stroke: #2f7fd6 } .seldom { stroke: #e0662f }
    .dot.alone { fill: #8a8a84 } .dot.beside { fill: #2f7fd6 } .dot.seldom { fill: #e0662f }
    @media (prefers-color-scheme: dark) { text { fill: #deddd8 } }`;

/** Draws delays against requests, both on logarithmic scales, one panel for each sort of change. */
export function plotOf(days: readonly Day[]): string {
  const words = 'Delays against requests a minute: with sweeps alone, and with reading between them.';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${words}">`,
    `  <title>${words}</title>`,
    `  <style>${STYLE}\n  </style>`,
    ...legend(),
    ...PANELS.flatMap((panel, index) => panelOf(panel, days, index)),
    '</svg>',
    '',
  ].join('\n');
}

function legend(): string[] {
  return WAYS.flatMap(({ way, style }, index) => {
    const x = AREA.left + index * 260;
    return [mark(style, x + 5, 18), `  <text x="${x + 18}" y="22">${way}</text>`];
  });
}

function panelOf({ title, seconds }: Panel, days: readonly Day[], index: number): string[] {
  const left = AREA.left + index * PITCH;
  const [right, bottom] = [left + AREA.width, AREA.top + AREA.height];
  const x = (value: number): number => round(left + AREA.width * share(value, X_RANGE));
  const y = (value: number): number => round(bottom - AREA.height * share(value, Y_RANGE));
  return [
    `  <text class="title" x="${left - 36}" y="${AREA.top - 20}">${title}</text>`,
    ...Y_TICKS.flatMap(([value, label]) => [
      `  <line class="grid" x1="${left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/>`,
      `  <text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${label}</text>`,
    ]),
    ...X_TICKS.map(
      (value) => `  <text x="${x(value)}" y="${bottom + 18}" text-anchor="middle">${value}</text>`,
    ),
    `  <text x="${left + AREA.width / 2}" y="${bottom + 38}" text-anchor="middle">requests a minute</text>`,
    ...WAYS.flatMap(({ way, style }) => {
      const points = days
        .filter((day) => day.way === way)
        .map((day) => [x(day.requests), y(seconds(day))] as const)
        .toSorted(([one], [other]) => one - other);
      const line = points.map(([at, height]) => `${at},${height}`).join(' L');
      return [
        `  <path class="${style}" d="M${line}"/>`,
        ...points.map(([at, height]) => mark(style, at, height)),
      ];
    }),
  ];
}

/** A mark that is told apart by its shape too. */
function mark(style: string, x: number, y: number): string {
  const dot = `  <path class="dot ${style}" d="M`;
  if (style === 'alone') return `${dot}${x - 4},${y - 4} h8 v8 h-8 z"/>`;
  if (style === 'beside') return `${dot}${x},${y - 5} l5,9 h-10 z"/>`;
  return `${dot}${x - 4},${y} a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0"/>`;
}

/** Where a value is on a logarithmic scale, from 0 to 1. */
function share(value: number, [least, most]: readonly [number, number]): number {
  return Math.log(value / least) / Math.log(most / least);
}

const round = (value: number): number => Math.round(value * 10) / 10;

import * as z from 'zod';
import { includeKinds, kinds } from './groups/kinds.ts';
import {
  alerts,
  bi,
  calendar,
  database,
  mail,
  mcp,
  queue,
  reports,
  retention,
  log,
  server,
  shutdown,
  webhooks,
} from './groups/process.ts';
import { freshness, monitor, schedules } from './groups/schedules.ts';
import { source, sweep, deletions, diff, outbound, plans, privacy } from './groups/source.ts';
import type { Path } from './layers.ts';
import { readSettingInfo, group, setting, type SettingInfo } from './groups/setting.ts';

/** Every setting with its default, in the order of the table in docs/settings.md. */
export const settings = group({
  source,
  database,
  queue,
  server,
  log,
  sweep,
  deletions,
  outbound,
  plans,
  schedules,
  kinds,
  includeKinds,
  diff,
  privacy,
  freshness,
  webhooks,
  mail,
  alerts,
  monitor,
  bi,
  calendar,
  reports,
  mcp,
  language: setting(
    z.enum(['en', 'fr'], 'en or fr').default('en'),
    'Language of the comments in PostgreSQL, and of pages for browsers that prefer neither: en or fr.',
  ),
  retention,
  shutdown,
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** Validated settings; null = not set. */
export type Config = DeepReadonly<z.infer<typeof settings>> & {
  /** The file that `source.token` was read from (`BMS_TOKEN_FILE`). */
  readonly tokenFile?: string;
  /** `schedules.timezone` where the settings name it: else a mirror keeps the days that it has. */
  readonly calendarZone?: string;
};

/** A place in the tree of settings: a setting, or a group of them. */
export interface SettingNode {
  readonly path: Path;
  /** Its name in messages and tables: `source.baseUrl`. */
  readonly name: string;
  /** Its own environment variable: `BMS__SOURCE__BASE_URL`. */
  readonly variable: string;
  readonly schema: z.ZodType;
  readonly info: SettingInfo;
}

/** Every place in the tree of settings, a group before its members. */
export const SETTING_NODES: readonly SettingNode[] = listSettingNodes(settings, []);

/** The settings themselves, without the bare groups. */
export const SETTINGS: readonly SettingNode[] = SETTING_NODES.filter(
  (node) => node.info.meaning !== undefined,
);

/** Finds the setting that a path leads to, or into. */
export function findSetting(path: Path): SettingNode | undefined {
  return SETTINGS.findLast((node) => node.path.every((key, depth) => key === path[depth]));
}

function listSettingNodes(parent: z.ZodType, parentPath: Path): SettingNode[] {
  const inner = parent instanceof z.ZodPipe ? parent.out : parent;
  const members: Readonly<Record<string, z.ZodType>> = inner instanceof z.ZodObject ? inner.shape : {};
  return Object.entries(members).flatMap(([key, schema]) => {
    const path = [...parentPath, key];
    const segments = path.map((member) => member.replace(/[A-Z]/g, '_$&').toUpperCase());
    const variable = `BMS__${segments.join('__')}`;
    const node = { path, name: path.join('.'), variable, schema, info: readSettingInfo(schema) };
    return [node, ...listSettingNodes(schema, path)];
  });
}

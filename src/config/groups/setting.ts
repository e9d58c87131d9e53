import * as z from 'zod';

/** Properties of a setting beyond its schema. */
export interface SettingInfo {
  /** One sentence for docs/settings.md and config/default.yaml; only a bare group has none. */
  readonly meaning?: string;
  /** Plain environment variables, the strongest first; one that ends in `_FILE` names a file that holds the value. */
  readonly variables?: readonly string[];
  /** Never shown: the whole value, or any part of a URL that may be a password. */
  readonly secret?: 'value' | 'password';
}

const registry = z.registry<SettingInfo>();

/** Makes a value a setting: gives it a meaning and, where it has them, its variables. */
export function setting<T extends z.ZodType>(schema: T, meaning: string, extraInfo: SettingInfo = {}): T {
  registry.add(schema, { ...extraInfo, meaning });
  return schema;
}

/** Gathers settings under one key. */
export const group = <T extends z.ZodRawShape>(shape: T) =>
  orEmpty(z.strictObject(shape, 'a map of settings'));

/** A map, empty by default. Its keys may be any text here: `checkNames` judges them, so that a wrong name does not hide faults below it. */
export function mapOf<T extends z.ZodType>(value: T) {
  return orEmpty(z.record(z.string(), value, 'a map'));
}

/** A group that is left out, or left empty in YAML (`server:`), is an empty map. @param complete Adds the defaults that depend on other keys. */
export function orEmpty<T extends z.ZodType>(map: T, complete = (values: OpenMap) => values) {
  return z.preprocess((value = {}) => {
    const isMap = typeof value === 'object' && !Array.isArray(value);
    return isMap ? complete({ ...value }) : value;
  }, map);
}

type OpenMap = Readonly<Record<string, unknown>>;

/** A setting that may be absent: null, by default. */
export function nullableSetting<T extends z.ZodType>(schema: T) {
  return schema.nullable().default(null);
}

export function readSettingInfo(schema: z.ZodType): SettingInfo {
  return registry.get(schema) ?? {};
}

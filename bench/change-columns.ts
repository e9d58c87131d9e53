/** The columns of a change event that the benches fill, in the order of their rows. */
export const CHANGE_COLUMNS = [
  'kind',
  'record_id',
  'change',
  'observed_at',
  'before',
  'after',
  'fields',
  'origin',
  'run_id',
] as const;

/** The features, and the other features that each may import. */
export const FEATURES: Record<string, readonly string[]> = {
  notify: [],
  export: [],
  reports: ['export'],
  plans: ['export'],
  mcp: ['plans', 'reports', 'export'],
  verify: [],
  move: [],
};

/** What a process of the background service can do; several processes may share the work. */
export const ROLES = ['pulls', 'outbound', 'http'] as const;
export type Role = (typeof ROLES)[number];

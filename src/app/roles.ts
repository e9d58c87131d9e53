/** The roles of a background process; several processes may share the work. */
export const ROLES = ['pulls', 'outbound', 'webhooks', 'http'] as const;
export type Role = (typeof ROLES)[number];

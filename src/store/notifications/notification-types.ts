/** A test, which a person has asked for. */
export const TEST_TYPE = 'webhook.test';

/** Notifications that a person should read at once, the most urgent first. */
export const URGENT_TYPES: readonly string[] = [
  'mirror.damaged',
  'outbox.frozen',
  'token.refused',
  'kind.held',
  'entry.parked',
];

/** The order of the causes in a message; alerts and tests come after them. */
export const NOTIFICATION_ORDER: readonly string[] = [
  ...URGENT_TYPES,
  'kind.blocked',
  'entry.rejected',
  'kind.stale',
  'field.volatile',
];

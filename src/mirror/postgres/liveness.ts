/**
 * Settings that make the server end a connection whose process hangs inside a transaction or whose host is gone, so that its
 * locks are free within 15 s. Every user may set them.
 */
export const LIVENESS_SETTINGS: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: '8s',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10s', // Also covers a process that does not read its answer.
};

/** The driver's options with which this process notices a server that is gone. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 } as const;

/** The statements that give a connection these settings. */
export const settingStatements = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).map(([name, value]) => `set ${name} to '${value}'`);

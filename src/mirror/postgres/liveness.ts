/**
 * What has the server end a connection whose process stands still inside a transaction, or whose host is gone: what it
 * holds is free for others within 15 s. Each setting is one that every user may set.
 */
export const LIVENESS_SETTINGS: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: '8s',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10s', // Of a process that does not read its answer, too.
};

/** The driver's options with which this process notices a server that is gone. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 } as const;

/** The statements that give a connection these settings. */
export const settingStatements = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).map(([name, value]) => `set ${name} to '${value}'`);

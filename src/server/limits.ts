/** What one caller may take of the server, so that nobody can keep it from the others. */

export const HEAD_BYTES = 16_384;
export const BODY_BYTES = 1_048_576;
/** Of a body that anybody may send, and the time that it may take. */
export const OPEN_BODY_BYTES = 4_096;
export const OPEN_BODY_MS = 5_000;
export const CONNECTIONS = 1_024;
/** Connections that the system keeps for us until we take them: without it, those of a crowd come a second later. */
export const BACKLOG = 4_096;
/** Requests that one connection may send ahead of their answers. */
export const PIPELINED = 16;
/** Change streams and long polls that may be open at once. */
export const WAITING = 64;

/** Time to send the head of a request, and all of it. */
export const HEADERS_MS = 10_000;
export const REQUEST_MS = 30_000;
export const KEEP_ALIVE_MS = 10_000;
/** Time without any progress in which an answer must be read on. */
export const STILL_MS = 30_000;
/** What is thrown away of a request that was answered before its end: for how long, and how long nothing may come. */
export const LINGER_BYTES = 67_108_864;
export const LINGER_MS = 30_000;
export const LINGER_STILL_MS = 5_000;
/** How often connections are looked through for those that took longer. */
export const CHECK_MS = 5_000;
/** Time for what is under way to end once the server closes. */
export const CLOSE_MS = 5_000;

import { parseObject } from '../../lib/json.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';

/** The fields that an entry wants written, by the names of a write. */
export const payloadOf = ({ payload }: Pick<Entry, 'payload'>): JsonObject => parseObject(payload);

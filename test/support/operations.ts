import { loadAll, OPERATIONS as OF_FEATURES } from '../../src/features.ts';
import { CORE_OPERATIONS } from '../../src/operations/all.ts';

/** All operations of the API: those of the core, and those of the features. */
export const OPERATIONS = [...CORE_OPERATIONS, ...(await loadAll(OF_FEATURES)).flat()];

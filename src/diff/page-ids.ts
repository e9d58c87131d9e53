/** Ids as pages and sightings hold them: a JSON array of numbers up to 2^63−1. */
export const formatIds = (ids: Iterable<string>): string => `[${[...ids].join(',')}]`;

export const parseIds = (text: string): string[] => (text === '[]' ? [] : text.slice(1, -1).split(','));

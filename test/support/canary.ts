/** Stands in every secret that tests make up, and nowhere else in the world: where it shows, a secret shows. */
export const MARK = 'zqyxkwvj';

/**
 * Makes a secret for a test: a token, a password. It begins with the mark, so that its beginning is known as well;
 * give `rest` the characters that the test is about.
 */
export const canary = (rest: string): string => `${MARK}${rest}`;

/** What the sandbox accepts where a test does not say otherwise. */
export const SANDBOX_TOKEN = 'sandbox-token';

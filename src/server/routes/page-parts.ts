import { z } from 'zod';
import { wholeNumber } from '../fields.ts';
import { PAGE_CONTENT } from '../openapi/problems.ts';

/** The schema that all pages share. */
export const pageSchema = (summary: string) => ({
  ...{ summary, tags: ['Pages'] },
  response: { 200: { description: 'The page', content: PAGE_CONTENT } },
});

/** A page is for people: without authentication it is the sign-in form, and its errors are pages. */
export const config = { signsIn: true } as const;

export const before = wholeNumber(1)
  .optional()
  .describe('only rows before this one: where a page of the list begins');

/** A value of a filter; an empty one, as a form sends it, filters nothing. */
export const chosen = z
  .string()
  .max(100)
  .optional()
  .transform((value) => (value === '' ? undefined : value));

/** The decision that was just carried out. */
export const done = z.string().max(40).optional().describe('the decision that was just carried out');

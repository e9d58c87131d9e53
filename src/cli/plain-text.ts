/** Characters that would steer the terminal, or make a text look like another. */
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** A text of the service as a terminal can show it: on one line, with a mark for each character that would steer it. */
export function plainText(text: string): string {
  return text.replace(STEERING, '\ufffd');
}

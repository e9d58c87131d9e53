/** Characters that steer a terminal, end a line, or turn the direction in which it is read. */
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** Those of them that JSON may contain unescaped. */
const STEERING_IN_JSON = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

/** A text as one line for a terminal, with a replacement character for each control character. */
export function plainLine(text: string): string {
  return text.replace(STEERING, '\ufffd');
}

/** The same JSON, with each character that would steer a terminal as its escape. */
export function plainJson(json: string): string {
  return json.replace(
    STEERING_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

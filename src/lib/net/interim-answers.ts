/** Interim answers (`103 Early Hints`, `102 Processing`) that may precede an answer. */
const MAX_INTERIM_ANSWERS = 32;

/** Interim answers without end would leave the process no time for anything else. */
class TooManyInterimAnswers extends Error {
  override readonly name = 'TooManyInterimAnswers';
  readonly code = 'too_many_interim_answers';
}

/** Makes a function to be called at each interim answer to one request; it throws where there are too many. */
export function createInterimAnswerCounter(): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count > MAX_INTERIM_ANSWERS)
      throw new TooManyInterimAnswers(`got more than ${MAX_INTERIM_ANSWERS} interim answers, and no answer`);
  };
}

import { entropy } from './entropy.ts';

/**
 * Names of secrets, as they appear before `=` and `:` or as a key of an object: passwords that people choose,
 * and issued ones.
 */
const CHOSEN = 'password|passwd|passphrase|pwd';
const ISSUED =
  'secret|token|credential|authorization|(?:api|access|account|auth|encryption|master|private|signing)[_-]?key';
export const SECRET_NAME = `(?:${CHOSEN}|${ISSUED})`;

/** A reference, an example or a placeholder. Hiding it would only make a text harder to read. */
const PLACEHOLDER =
  /^[$#%]?[{(<]|\{\{|\$\{|^\$|^%\w+%$|change[-_]?(?:me|it)|placeholder|replace[-_]?me|your[-_]|dummy|redacted|lorem|example|x{5,}|\*{3,}|\.{3}|…|•|^(.)\1+$|^(?:process|os|import|env|config|secrets?|vars?|self|this|options|github)\.|0123456789|1234567890$/i;

/** Words joined as in names, paths and calls: `access_token_v2`, `user.password`, `src/token.ts`. */
const WORDS = /^[@$]?[A-Za-z]+\d?(?:[-_.:/? ]+(?:[A-Za-z]+\d{0,3}|v?\d{1,4}))*[-_.:/!?]*$/;

const isPasswordName = new RegExp(CHOSEN, 'i');

/**
 * Whether the value assigned to such a name is probably a secret. A password must have a digit or sign
 * besides letters, a token must look random. A password of plain words counts as prose. Rejected: hiding
 * those too, which would hide the `required` of `password: required`.
 */
export function looksSecret(name: string, value: string): boolean {
  if (PLACEHOLDER.test(value) || WORDS.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (isPasswordName.test(name)) return /[0-9!@#%^&*+=?~|]/.test(value) && entropy(value) >= 2.2;
  if (value.length < 12) return false;
  return /\d.*\d/s.test(value)
    ? entropy(value) >= 3
    : value.length >= 20 && /\d/.test(value) && entropy(value) >= 4;
}

/**
 * Whether the password part of a URL is a real one: no placeholder, and none of the usual local passwords.
 */
export function isAddressPassword(value: string): boolean {
  return (
    !PLACEHOLDER.test(value) &&
    !/^(?:pass(?:word|wd)?|pw|pwd|secret|token|key|postgres|root|admin|user|guest|test)$/i.test(value)
  );
}

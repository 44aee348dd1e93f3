/**
 * Whether the text is a valid line or column number. A program that creates its own errors can set any text.
 */
export function isPlace(written: string | undefined): written is string {
  const number = Number(written);
  return Number.isSafeInteger(number) && number > 0;
}

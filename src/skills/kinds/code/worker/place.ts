/** Whether it is a number of a line or a column. A program that makes up its own errors may say any other. */
export function isPlace(written: string | undefined): written is string {
  const number = Number(written);
  return Number.isSafeInteger(number) && number > 0;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** What the work results in. @throws Error `late` if that takes longer than `ms` milliseconds */
export async function within<T>(ms: number, work: Promise<T>, late: string): Promise<T> {
  const time = Promise.withResolvers<never>();
  const timer = setTimeout(() => time.reject(new Error(late)), ms);
  try {
    return await Promise.race([work, time.promise]);
  } finally {
    clearTimeout(timer);
  }
}

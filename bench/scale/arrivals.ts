/**
 * When pull requests arrive, in which repositories, and when people answer, by what was measured of public projects:
 *
 * - Pull requests of a repository: median 2, 95th percentile 21, with a long tail. Merged: 84 %. Georgios Gousios, Martin Pinzger and
 *   Arie van Deursen, An Exploratory Study of the Pull-Based Software Development Model, ICSE 2014, doi:10.1145/2568225.2568260, and
 *   https://speakerdeck.com/gousiosg/an-exploration-of-the-pull-based-software-development-model.
 * - Merged within a day: 60 %, within four: 80 % (the same study).
 * - Two thirds of the people who commit keep to office hours, 10 to 18, and not to nights and weekends. Maëlick Claes and others, Do
 *   Programmers Work at Night or During the Weekend?, ICSE 2018, https://arxiv.org/abs/1802.05084.
 */
export const MERGED = 0.84;

/** The quantiles of the normal distribution at 60 %, 80 % and 95 %. */
const [Z60, Z80, Z95] = [0.2533, 0.8416, 1.6449];

/** A log-normal distribution with the median and the 95th percentile of the study. */
const OF_REPOSITORIES = { mu: Math.log(2), sigma: Math.log(21 / 2) / Z95 };

/** Days until people answer: log-normal, 60 % within one and 80 % within four. */
const sigma = Math.log(4) / (Z80 - Z60);
const OF_ANSWERS = { mu: -Z60 * sigma, sigma };

/** In a log-normal distribution, the mean lies far above the median. */
export const MEAN_DAYS_OPEN = Math.exp(OF_ANSWERS.mu + OF_ANSWERS.sigma ** 2 / 2);

const OFFICE = { from: 10, to: 18 };
const IN_OFFICE_HOURS = 2 / 3;
const HOURS_OF_WEEK = 168;
const OFFICE_HOURS_OF_WEEK = 5 * (OFFICE.to - OFFICE.from);

/** The share of a year's pull requests that arrive in an hour of the week, in UTC. */
export function shareOfHour(at: Date): number {
  const isWeekday = at.getUTCDay() >= 1 && at.getUTCDay() <= 5;
  const hour = at.getUTCHours();
  const weeks = 365 / 7;
  return isWeekday && hour >= OFFICE.from && hour < OFFICE.to
    ? IN_OFFICE_HOURS / OFFICE_HOURS_OF_WEEK / weeks
    : (1 - IN_OFFICE_HOURS) / (HOURS_OF_WEEK - OFFICE_HOURS_OF_WEEK) / weeks;
}

/** The busiest hour's share. */
export const PEAK_SHARE = shareOfHour(new Date('2026-03-04T10:00:00Z'));

/** The share of the hours of a week in which at least one of so many pull requests a year arrives, if each comes by itself. */
export function shareOfHoursWithArrivals(aYear: number): number {
  const monday = Date.parse('2026-03-02T00:00:00Z');
  const hours = Array.from({ length: HOURS_OF_WEEK }, (_, hour) => new Date(monday + hour * 3_600_000));
  return hours.reduce((sum, at) => sum + 1 - Math.exp(-aYear * shareOfHour(at)), 0) / HOURS_OF_WEEK;
}

/** Chooses repositories by how many pull requests each has. @param random from 0 up to 1 */
export function repositoriesBySize(count: number, random: () => number): () => number {
  const sizes = Array.from({ length: count }, () => logNormal(OF_REPOSITORIES, random));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return () => {
    let rest = random() * total;
    const found = sizes.findIndex((size) => {
      rest -= size;
      return rest < 0;
    });
    return found === -1 ? count - 1 : found;
  };
}

export function daysUntilAnswer(random: () => number): number {
  return logNormal(OF_ANSWERS, random);
}

function logNormal({ mu, sigma: spread }: { mu: number; sigma: number }, random: () => number): number {
  // Box and Muller: https://doi.org/10.1214/aoms/1177706645
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.exp(mu + spread * normal);
}

/** The same numbers each time: https://en.wikipedia.org/wiki/Linear_congruential_generator, with the factors of Numerical Recipes. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

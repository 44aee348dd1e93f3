import { compileIntent } from '../../domain/skill/intent.ts';
import type { SkillDescription } from '../../domain/skill/package.ts';
import { createBm25, type WeightedWords } from './bm25.ts';
import { somePathMatcher } from './glob-matcher.ts';

/** Words that are too common to distinguish skills. */
const COMMON = new Set(
  'a an and are at be by can check do does for from has have how i in is it me my of on or our please pull request should so that the their this to us was we what when which who why will with you your'.split(
    ' ',
  ),
);

/** What to match. Both may be empty, and both are untrusted. */
export interface Question {
  text: string;
  /** Files that a pull request changes. */
  paths: readonly string[];
}

/** One reason for a skill, with its weight. */
interface MatchReason {
  kind: 'name' | 'phrase' | 'intent' | 'tag' | 'path' | 'words';
  /** The matching name, phrase, pattern, tag or glob; for `words`, the common words. */
  said: string;
  score: number;
}

export interface SkillMatch {
  name: string;
  /** The sum over its reasons. */
  score: number;
  /** Strongest first. */
  reasons: MatchReason[];
}

/** An explicit mention weighs more than a path or a description that happens to match. */
const WEIGHTS = { name: 10, phrase: 8, intent: 6, path: 4, tag: 2 } as const;
/** The limit for all words together, so that a long description does not win by its length. */
const MAX_WORDS_SCORE = 5;
const MAX_TAGS = 3;
const FIELD_WEIGHTS = { name: 3, tags: 2, phrases: 2, description: 1 } as const;

/** In UTF-16 units. Longer texts are cut: the beginning says what they are about. */
export const MAX_TEXT_LENGTH = 500;

export interface Matcher {
  /** The skills with at least one reason, best first; ties are ordered by name. */
  match(question: Question): SkillMatch[];
}

/** Phase 1 of finding a skill: deterministic, from the skills and the question alone, without a model. */
export function createMatcher(skills: readonly SkillDescription[]): Matcher {
  return matcherOf(skills.map(prepareSkill));
}

/** The same for prepared skills. Preparation is by far most of the work. */
export function matcherOf(entries: readonly PreparedSkill[]): Matcher {
  const bm25 = createBm25(entries.map(({ text }) => text));

  return {
    match({ text, paths }) {
      const clipped = text.slice(0, MAX_TEXT_LENGTH);
      const words = wordsOf(clipped);
      const telling = new Set(significantWordsOf(clipped));
      const fits = bm25.scores(telling);
      const someMatch = somePathMatcher(paths);
      return entries
        .map((entry, index): SkillMatch => {
          const reasons = [
            ...ofName(entry, words),
            ...ofPhrases(entry, words),
            ...ofIntents(entry, clipped),
            ...ofTags(entry, words),
            ...ofPaths(entry, someMatch),
            ...ofWords(entry, telling, fits.get(index) ?? 0),
          ].sort((a, b) => b.score - a.score);
          const score = rounded(reasons.reduce((sum, reason) => sum + reason.score, 0));
          return { name: entry.skill.name, score, reasons };
        })
        .filter(({ reasons }) => reasons.length > 0)
        .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
    },
  };
}

/** The part of a skill that does not depend on the others. */
export type PreparedSkill = ReturnType<typeof prepareSkill>;

export function prepareSkill(skill: SkillDescription) {
  return {
    skill,
    name: wordsOf(skill.name),
    phrases: skill.triggerPhrases.map((said) => ({ said, words: wordsOf(said) })),
    tags: skill.tags.map((said) => ({ said, words: wordsOf(said) })),
    intents: skill.intentPatterns.map((said) => ({ said, pattern: compileIntent(said) })),
    text: weighted(skill),
  };
}

function weighted(skill: SkillDescription): WeightedWords {
  const counts = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of significantWordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + weight);
  };
  add(skill.name, FIELD_WEIGHTS.name);
  add(skill.tags.join(' '), FIELD_WEIGHTS.tags);
  add(skill.triggerPhrases.join(' '), FIELD_WEIGHTS.phrases);
  add(skill.description, FIELD_WEIGHTS.description);
  return counts;
}

function ofName({ skill, name }: PreparedSkill, words: readonly string[]): MatchReason[] {
  return holdsPhrase(words, name) ? [{ kind: 'name', said: skill.name, score: WEIGHTS.name }] : [];
}

/** One phrase is enough; further phrases add no information. */
function ofPhrases({ phrases }: PreparedSkill, words: readonly string[]): MatchReason[] {
  const found = phrases.find((phrase) => holdsPhrase(words, phrase.words));
  return found ? [{ kind: 'phrase', said: found.said, score: WEIGHTS.phrase }] : [];
}

function ofIntents({ intents }: PreparedSkill, text: string): MatchReason[] {
  const found = intents.find(({ pattern }) => pattern.isFoundIn(text));
  return found ? [{ kind: 'intent', said: found.said, score: WEIGHTS.intent }] : [];
}

function ofTags({ tags }: PreparedSkill, words: readonly string[]): MatchReason[] {
  return tags
    .filter((tag) => holdsPhrase(words, tag.words))
    .slice(0, MAX_TAGS)
    .map(({ said }) => ({ kind: 'tag', said, score: WEIGHTS.tag }));
}

function ofPaths({ skill }: PreparedSkill, someMatch: (glob: string) => boolean): MatchReason[] {
  const said = skill.paths.find(someMatch);
  return said === undefined ? [] : [{ kind: 'path', said, score: WEIGHTS.path }];
}

function ofWords({ text }: PreparedSkill, telling: ReadonlySet<string>, fit: number): MatchReason[] {
  if (fit <= 0) return [];
  const common = [...telling].filter((word) => text.has(word));
  return [{ kind: 'words', said: common.join(', '), score: rounded(Math.min(fit, MAX_WORDS_SCORE)) }];
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}

/**
 * The words of a text in comparable form: lower case, without a plural "s". Rejected: a real stemmer. In
 * names and one-line descriptions it finds little more, and its wrong matches are hard to explain.
 */
function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map(singular);
}

/** The words that distinguish skills. */
function significantWordsOf(text: string): string[] {
  return wordsOf(text).filter((word) => !COMMON.has(word));
}

/** Whether the phrase occurs in the words, in order and without gaps. */
function holdsPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false;
  return words.some((_, start) => phrase.every((word, index) => words[start + index] === word));
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

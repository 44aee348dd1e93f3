import { lintSource } from '@secretlint/core';
import { secretLintProfiler } from '@secretlint/profiler';
import { rules as preset } from '@secretlint/secretlint-rule-preset-recommend';
import { entropy } from '../../core/redact/entropy.ts';
import { type Analyze, linesIn, type RawFinding, type SourceFile } from '../analyzer.ts';
import type { RuleBook } from '../rules.ts';

type Config = RuleBook['secrets'];

interface Hit {
  rule: string;
  start: number;
  end: number;
  value: string;
}

/** `secretlint-disable` comments are a rule of the preset. A pull request must not be able to use them. */
const FILTER = '@secretlint/secretlint-rule-filter-comments';
/** It searches all its former marks for each new one, which takes a minute for 1,000 files. */
secretLintProfiler.mark = () => {};
const PREFIX = '@secretlint/secretlint-rule-';

/** Finds secrets by secretlint's rules for known services and by our own patterns for others. */
export const analyze: Analyze<Config> = async (files, config) => {
  const placeholders = config.placeholders.map((pattern) => new RegExp(pattern, 'i'));
  const findings: RawFinding[] = [];
  const secrets = new Set<string>();
  for (const file of files) {
    const hits = [...ownHits(file, config), ...(await presetHits(file, config))].filter(
      (hit) => !placeholders.some((pattern) => pattern.test(hit.value)),
    );
    const lineAt = linesIn(file.text);
    for (const hit of hits) {
      for (const part of hit.value.split(/\r?\n/)) if (part.length >= 6) secrets.add(part);
      findings.push({
        file: file.index,
        rule: hit.rule,
        line: lineAt(hit.start),
        endLine: lineAt(Math.max(hit.start, hit.end - 1)),
      });
    }
  }
  const log = findings.map((finding) => `${finding.file} ${finding.rule} ${finding.line}`).join('\n');
  return { findings, log, secrets: [...secrets] };
};

async function presetHits(file: SourceFile, config: Config): Promise<Hit[]> {
  const result = await lintSource({
    source: { content: file.text, filePath: file.name, ext: extension(file.name), contentType: 'text' },
    options: {
      noPhysicFilePath: true,
      config: {
        rules: preset.filter((rule) => rule.meta.id !== FILTER).map((rule) => ({ id: rule.meta.id, rule })),
      },
    },
  });
  return result.messages.map((message) => {
    const id = message.ruleId.replace(PREFIX, '');
    const [start, end] = message.range;
    return {
      rule: Object.hasOwn(config.rules, id) ? id : 'known-service',
      start,
      end,
      value: credentialIn(file.text.slice(start, end)),
    };
  });
}

function* ownHits(file: SourceFile, config: Config): Generator<Hit> {
  for (const [rule, { pattern, ignore_case, min_entropy, config_files_only }] of Object.entries(
    config.rules,
  )) {
    if (pattern === undefined || (config_files_only && !isConfiguration(file))) continue;
    for (const match of file.text.matchAll(new RegExp(pattern, ignore_case ? 'gimd' : 'gmd'))) {
      const value = match.groups?.value;
      const [start, end] = match.indices?.groups?.value ?? [0, 0];
      if (value === undefined || entropy(value) < (min_entropy ?? 0)) continue;
      yield { rule, start, end, value };
    }
  }
}

function isConfiguration({ language }: SourceFile): boolean {
  return language === 'config' || language === 'yaml' || language === 'dockerfile';
}

/** The password of a URL, or the right side of an assignment; otherwise the whole text. */
function credentialIn(text: string): string {
  const password = /:\/\/[^/\s:@]*:([^@\s]+)@/.exec(text)?.[1];
  if (password !== undefined) return password;
  const assigned = /^[\w.-]{1,60}["']?\s*(?:=>|[:=])\s*["']?([^"'\s]{8,})/.exec(text)?.[1];
  return text.includes('\n') || assigned === undefined ? text : assigned;
}

function extension(name: string): string {
  return name.slice(name.lastIndexOf('.'));
}

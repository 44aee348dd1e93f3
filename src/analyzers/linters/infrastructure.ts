import { type Analyze, ofWholeFile, type RawFinding, type SourceFile } from '../analyzer.ts';
import { checkInfrastructure } from '../infrastructure/check.ts';
import type { RuleBook } from '../rules.ts';

/** No more findings of one file: it is generated, or made to drown the others. */
const MOST = 200;

/** Our own rules for shell scripts, Dockerfiles, Terraform and Kubernetes. */
export const analyze: Analyze<RuleBook['infrastructure']> = async (files) => {
  const findings = files.flatMap(findingsIn);
  const log = findings.map(({ file, rule, line }) => `${file} ${rule} ${line}`).join('\n');
  return { findings, log };
};

function findingsIn({ index, language, text }: SourceFile): RawFinding[] {
  if (language !== 'shell' && language !== 'dockerfile' && language !== 'terraform' && language !== 'yaml')
    return [];
  try {
    return checkInfrastructure(text, language)
      .slice(0, MOST)
      .map((found) => ({ file: index, ...found }));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is nested too deep';
    return [{ file: index, rule: 'not-analysed', line: 1, ...ofWholeFile(1, reason) }];
  }
}

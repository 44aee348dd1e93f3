import { doctorJson, doctorText } from '../../messages/cli/doctor.ts';
import { wordsOf } from '../../messages/self-check/self-check.ts';
import { paintMarks } from '../../messages/text/screen.ts';
import type { Context, DoctorOptions, Output } from './context.ts';

/** Checks how the app is set up; fails if something is wrong. Warnings, and what could not be checked, do not fail it. */
export async function doctor({ tools }: Context, options: DoctorOptions): Promise<Output> {
  const findings = await tools.selfCheck(options);
  return {
    text: (screen) => paintMarks(doctorText(findings), screen),
    json: doctorJson(findings),
    failed: findings.some((finding) => wordsOf(finding).status === 'error'),
  };
}

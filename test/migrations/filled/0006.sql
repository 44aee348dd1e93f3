-- What version 6 adds: answers in words, given to a question that was asked and is over.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE approvals SET answers_json = '[{"person":{"id":41,"login":"mia"},"says":"approve","at":"2026-01-05T12:00:00.000Z"}]'
  WHERE id = 'apr_1';

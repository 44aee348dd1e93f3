-- What version 21 adds: what the last look at an open question saw.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE approvals SET watch_json = '{"node_id":"IC_1","counted":["rocket"],"reactions":"","body":"c0ffee","pull_request":{"open":true,"draft":false,"head_sha":"0000000000000000000000000000000000000001","base_ref":"main","conflicts":false}}'
  WHERE id = 'apr_2';

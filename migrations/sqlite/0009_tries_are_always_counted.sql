-- Whether a death cut an effect off no longer matters to how its tries are counted.
UPDATE effects SET progress_json = json_remove(progress_json, '$.cut_off') WHERE progress_json ->> 'cut_off' IS NOT NULL;

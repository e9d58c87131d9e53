UPDATE `kind_state` SET `last_change_at` = coalesce(
  (SELECT max(`observed_at`) FROM `changes` WHERE `changes`.`kind` = `kind_state`.`kind`),
  CASE WHEN (SELECT min(`seq`) FROM `changes`) > 1 THEN `last_change_at` END
);

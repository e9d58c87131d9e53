ALTER TABLE `outbox` ADD `settlement` text;--> statement-breakpoint
UPDATE outbox SET settlement = result WHERE result LIKE '{%' AND (state IN ('ready', 'sending', 'unsettled')
  OR (state = 'parked' AND operation = 'create') OR (state = 'done' AND result LIKE '%"unproven":%'));--> statement-breakpoint
UPDATE outbox SET result = NULL WHERE state IN ('ready', 'sending', 'unsettled');

ALTER TABLE `outbox` ADD `allow_unknown` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `outbox` SET `allow_unknown` = 1;
CREATE TABLE `plan_rows` (
	`plan_id` BIGINT NOT NULL,
	`position` integer NOT NULL,
	`operation` text NOT NULL,
	`record_id` text,
	`cells` text NOT NULL,
	`refusal` text,
	`entry_id` BIGINT,
	PRIMARY KEY(`plan_id`, `position`)
);
--> statement-breakpoint
CREATE INDEX `plan_rows_by_record_id` ON `plan_rows` (`record_id`);--> statement-breakpoint
CREATE TABLE `plans` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`origin` text NOT NULL,
	`checksum` text NOT NULL,
	`created_at` TIMESTAMP NOT NULL,
	`created_by` text NOT NULL,
	`applied_at` TIMESTAMP,
	`applied_by` text
);

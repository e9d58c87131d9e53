CREATE TABLE `erasures` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	`erased_at` TIMESTAMP NOT NULL,
	`erased_by` text NOT NULL,
	`suppressed` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `erasures_by_kind_suppressed` ON `erasures` (`kind`,`suppressed`);
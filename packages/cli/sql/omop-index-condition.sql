-- The first day of a condition; {index_concepts}: condition_concept_id, these very ones, not their descendants.
select cast(person_id as bigint) as person_id, min(cast(condition_start_date as date)) as index_date
from condition_occurrence
where cast(condition_concept_id as bigint) in ({index_concepts})
group by 1

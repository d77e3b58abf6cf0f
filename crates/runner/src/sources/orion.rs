//! Orion's jobs under Orion's names: which pairs of small and large load a job measures.

use mindful_core::contract::file_read::InFlight;
use mindful_core::{Error, Result, stored_names};

stored_names! {
    pub enum Preset {
        /// Small reads at rising load, up to twenty a disk: the most I/Os a second.
        Oltp = "oltp",
        /// Large reads at rising load: the most bytes a second.
        Dss = "dss",
        /// Small reads only, then large reads only.
        Simple = "simple",
        /// All pairs of small and large load.
        Normal = "normal",
        /// Any combination of matrix and loads.
        Advanced = "advanced",
    }
}

stored_names! {
    /// Which part of the matrix of small against large load is measured.
    pub enum Matrix {
        /// One pair.
        Point = "point",
        /// All small loads with one large load.
        Row = "row",
        /// All large loads with one small load.
        Col = "col",
        /// The pair of the highest loads.
        Max = "max",
        /// Only small, and only large reads.
        Basic = "basic",
        /// All pairs.
        Detailed = "detailed",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    pub preset: Preset,
    /// The matrix of an advanced job; other jobs have fixed ones.
    pub matrix: Option<Matrix>,
    /// Disks that serve the files: the ladders rise in multiples of it.
    pub disks: u32,
    /// A fixed small load, or the highest.
    pub num_small: Option<u32>,
    /// A fixed large load, or the highest.
    pub num_large: Option<u32>,
    /// Most I/Os that a session can keep in flight.
    pub most: u32,
}

/// Small loads rise to so many a disk.
const SMALL_PER_DISK: u32 = 5;
/// Large loads rise to so many a disk.
const LARGE_PER_DISK: u32 = 2;
/// The small loads of `oltp` rise to so many a disk.
const OLTP_PER_DISK: u32 = 20;
/// The large loads of `dss` rise to so many a disk.
const DSS_PER_DISK: u32 = 15;
/// Most steps of a ladder; a longer one is thinned out.
const MOST_STEPS: u32 = 20;

impl Job {
    /// The data points, in the order they are measured: small load rising within large load rising.
    pub fn points(&self) -> Result<Vec<InFlight>> {
        if self.disks == 0 {
            return Err(Error::plan("a load needs one disk or more", "pass --num-disks 1 or more"));
        }
        let small = |steps| ladder(self.disks, steps, self.num_small);
        let large = |steps| ladder(self.disks, steps, self.num_large);
        let points = match self.preset {
            Preset::Oltp => line(&small(OLTP_PER_DISK), &[0]),
            Preset::Dss => line(&[0], &large(DSS_PER_DISK)),
            Preset::Simple => self.matrix_points(Matrix::Basic)?,
            Preset::Normal => self.matrix_points(Matrix::Detailed)?,
            Preset::Advanced => self.matrix_points(self.matrix.unwrap_or(Matrix::Basic))?,
        };
        match points.iter().map(|p| p.small.max(p.large)).max() {
            Some(highest) if highest > self.most => Err(Error::plan(
                format!("a load of {highest} I/Os is beyond the limit of {}", self.most),
                "pass fewer --num-disks",
            )),
            _ => Ok(points),
        }
    }

    fn matrix_points(&self, matrix: Matrix) -> Result<Vec<InFlight>> {
        let small = ladder(self.disks, SMALL_PER_DISK, self.num_small);
        let large = ladder(self.disks, LARGE_PER_DISK, self.num_large);
        let fixed = |load: Option<u32>, flag: &str| {
            load.ok_or_else(|| Error::plan("this matrix needs a fixed load", format!("pass {flag}")))
        };
        let with_none = |loads: &[u32]| [&[0], loads].concat();
        let points = match matrix {
            Matrix::Point => line(&[fixed(self.num_small, "--num-small")?], &[fixed(self.num_large, "--num-large")?]),
            Matrix::Row => {
                line(&with_none(&ladder(self.disks, SMALL_PER_DISK, None)), &[fixed(self.num_large, "--num-large")?])
            }
            Matrix::Col => {
                line(&[fixed(self.num_small, "--num-small")?], &with_none(&ladder(self.disks, LARGE_PER_DISK, None)))
            }
            Matrix::Max => line(&small[small.len() - 1..], &large[large.len() - 1..]),
            Matrix::Basic => [line(&small, &[0]), line(&[0], &large)].concat(),
            Matrix::Detailed => line(&with_none(&small), &with_none(&large)),
        };
        if points.is_empty() {
            return Err(Error::plan(
                "a matrix without loads does not measure anything",
                "pass --num-small or --num-large above 0",
            ));
        }
        Ok(points)
    }
}

/// Rising loads up to `steps` a disk, or up to `highest`; thinned out to at most [`MOST_STEPS`].
fn ladder(disks: u32, steps: u32, highest: Option<u32>) -> Vec<u32> {
    let top = highest.unwrap_or(disks.saturating_mul(steps)).max(1);
    let count = if highest.is_some() { top.min(MOST_STEPS) } else { top.min(steps.max(MOST_STEPS)) };
    let mut loads: Vec<u32> =
        (1..=count).map(|i| (u64::from(top) * u64::from(i)).div_ceil(u64::from(count)) as u32).collect();
    loads.dedup();
    loads
}

/// All pairs of `small` and `large` but the empty one.
fn line(small: &[u32], large: &[u32]) -> Vec<InFlight> {
    let pairs = large.iter().flat_map(|large| small.iter().map(|small| InFlight { small: *small, large: *large }));
    pairs.filter(|point| point.small + point.large > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Job =
        Job { preset: Preset::Simple, matrix: None, disks: 1, num_small: None, num_large: None, most: 4_096 };

    fn pairs(job: Job) -> Vec<(u32, u32)> {
        job.points().unwrap().iter().map(|p| (p.small, p.large)).collect()
    }

    #[test]
    fn one_disk_has_the_ladders_orion_has() {
        assert_eq!(pairs(JOB), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (0, 1), (0, 2)]);
        let oltp: Vec<_> = (1..=20).map(|load| (load, 0)).collect();
        assert_eq!(pairs(Job { preset: Preset::Oltp, ..JOB }), oltp);
        let dss: Vec<_> = (1..=15).map(|load| (0, load)).collect();
        assert_eq!(pairs(Job { preset: Preset::Dss, ..JOB }), dss);
        assert_eq!(pairs(Job { preset: Preset::Normal, ..JOB }).len(), 6 * 3 - 1);
    }

    #[test]
    fn many_disks_reach_the_same_multiple_in_no_more_steps() {
        let points = pairs(Job { preset: Preset::Oltp, disks: 12, ..JOB });
        assert_eq!((points[0], points[19]), ((12, 0), (240, 0)));
        assert_eq!(points.len(), 20);
    }

    #[test]
    fn a_matrix_is_cut_along_the_loads_that_are_fixed() {
        let advanced = |matrix, num_small, num_large| {
            pairs(Job { preset: Preset::Advanced, matrix: Some(matrix), num_small, num_large, ..JOB })
        };
        assert_eq!(advanced(Matrix::Point, Some(3), Some(1)), [(3, 1)]);
        assert_eq!(advanced(Matrix::Row, None, Some(2)), [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)]);
        assert_eq!(advanced(Matrix::Col, Some(2), None), [(2, 0), (2, 1), (2, 2)]);
        assert_eq!(advanced(Matrix::Max, None, None), [(5, 2)]);
    }

    #[test]
    fn a_job_without_loads_is_refused() {
        let advanced = Job { preset: Preset::Advanced, ..JOB };
        assert!(Job { matrix: Some(Matrix::Point), ..advanced }.points().is_err());
        assert!(
            Job { matrix: Some(Matrix::Point), num_small: Some(0), num_large: Some(0), ..advanced }.points().is_err()
        );
        assert!(Job { disks: 0, ..JOB }.points().is_err());
        assert!(Job { disks: 1 << 20, ..JOB }.points().is_err());
    }
}

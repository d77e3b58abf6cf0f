            {commit};
